/** Signs a JWT for the commands: the service itself never makes one. */
import { createSigner } from 'fast-jwt';
import { v7 as uuidv7 } from 'uuid';

export interface TokenRequest {
  readonly owner: string;
  readonly scopes: readonly string[];
  readonly ttlSeconds: number;
  readonly teams?: readonly string[];
  readonly buckets?: readonly string[];
  readonly memoryScopes?: readonly string[];
  readonly agent?: string;
  readonly profile?: 'public';
}

export function signToken(secret: string, request: TokenRequest): string {
  const sign = createSigner({ key: secret, algorithm: 'HS256', expiresIn: request.ttlSeconds * 1_000 });
  return sign({
    sub: request.owner,
    scope: request.scopes.join(' '),
    jti: uuidv7(),
    ...(request.teams && { teams: request.teams }),
    ...(request.buckets && { buckets: request.buckets }),
    ...(request.memoryScopes && { memory_scopes: request.memoryScopes }),
    ...(request.agent && { agent_id: request.agent }),
    ...(request.profile && { profile: request.profile }),
  });
}
