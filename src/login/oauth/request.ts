/** Reads the request of a program for an approval. It comes through the owner's browser, so nothing in it is believed before it is checked. */
import type { Deps } from '../../deps.ts';
import type { TokenScope } from '../../types.ts';
import type { Urls } from '../documents.ts';
import { DEFAULT_SCOPES, readScopes } from '../granting.ts';
import { isRegistered } from './redirects.ts';
import type { Refusal } from './refusal.ts';
import { isChallenge, isClientId } from './secrets.ts';
import { type ClientRow, findClient } from './store.ts';

const FIELDS = [
  'client_id',
  'redirect_uri',
  'response_type',
  'code_challenge',
  'code_challenge_method',
  'state',
  'scope',
  'resource',
] as const;

/** All of it goes back in one header, which programs and proxies hold to some 16 KB. */
const MAX_FIELD = 4_096;

/** As it was sent; the form of the page carries it on. */
export type Sent = { readonly [K in (typeof FIELDS)[number]]?: string };

export interface AuthorizeRequest {
  readonly client: ClientRow;
  readonly redirectUri: string;
  readonly state: string | undefined;
  readonly scopes: readonly TokenScope[];
  readonly challenge: string;
  readonly sent: Sent;
}

/** `faulty`: it is not known whom to send back to, so only the owner is told. `refused`: the program is told. */
export type Checked =
  | { readonly faulty: string }
  | (Refusal & Pick<AuthorizeRequest, 'redirectUri' | 'state'>)
  | { readonly request: AuthorizeRequest };

export async function checkRequest(deps: Deps, raw: Readonly<Record<string, unknown>>, urls: Urls): Promise<Checked> {
  const sent: Sent = Object.fromEntries(
    FIELDS.flatMap((field) => (typeof raw[field] === 'string' ? [[field, raw[field]]] : [])),
  );
  if (Object.values(sent).some((value) => value.length > MAX_FIELD))
    return { faulty: `The program sent a field of more than ${MAX_FIELD} characters.` };
  const { client_id: clientId = '', redirect_uri: redirectUri = '', state } = sent;
  const client = isClientId(clientId) ? await deps.db.admin((tx) => findClient(tx, clientId)) : undefined;
  if (!client) return { faulty: 'The program is not known here: its client_id is missing, wrong or was given up.' };
  if (!isRegistered(redirectUri, client.redirect_uris))
    return { faulty: 'The program did not register the address (redirect_uri) that it wants the answer at.' };

  const refuse = (refused: Refusal['refused'], why: string) => ({ refused, why, redirectUri, state });
  const twice = FIELDS.find((field) => Array.isArray(raw[field]));
  if (twice) return refuse('invalid_request', `${twice} stands there more than once`);
  if (sent.response_type !== 'code') return refuse('unsupported_response_type', 'response_type must be code');
  if (sent.code_challenge_method !== 'S256') return refuse('invalid_request', 'code_challenge_method must be S256');
  if (!isChallenge(sent.code_challenge ?? ''))
    return refuse('invalid_request', 'code_challenge must be a SHA-256 in base64url');
  if (!isOurs(sent.resource, urls)) return refuse('invalid_target', 'resource is not one of this service');
  const names = (sent.scope ?? '').split(/\s+/).filter(Boolean);
  const scopes = names.length === 0 ? DEFAULT_SCOPES : readScopes(names);
  if (scopes.length === 0) return refuse('invalid_scope', 'none of the scopes can be given');
  return { request: { client, redirectUri, state, scopes, challenge: sent.code_challenge!, sent } };
}

/** A token for us must not be asked for in the name of another server, which would then be sent it. */
export function isOurs(resource: string | undefined, { base, mcp }: Urls): boolean {
  if (resource === undefined) return true;
  const asked = resource.replace(/\/$/, '');
  return [base, mcp].some((own) => asked === own.replace(/\/$/, '')) || asked.startsWith(`${base}/`);
}
