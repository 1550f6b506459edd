/** Registers everything, in reading order. Opens nothing: the database, the model and the clock come in. */
import cors from '@fastify/cors';
import helmet from '@fastify/helmet';
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod';
import { v7 as uuidv7 } from 'uuid';
import { agentDiscovery, agentRoutes } from './access/agent-routes.ts';
import { sweepAgents } from './access/agents.ts';
import { type Authenticate, makeAuthenticate } from './access/authenticate.ts';
import { bindPage } from './access/bind-page.ts';
import { clearCache } from './access/cache.ts';
import { registerJwt, tokenIdOf } from './access/jwt.ts';
import { makeLastUse } from './access/last-use.ts';
import { accessRoutes } from './access/routes.ts';
import { teamRoutes } from './access/team-routes.ts';
import { endToken, insertToken, renewToken, sweepTokens } from './access/tokens.ts';
import { registerDenials } from './audit/denied.ts';
import { auditRoutes } from './audit/routes.ts';
import type { Deps } from './deps.ts';
import { registerAuth } from './http/auth.ts';
import { connectionOptions, endConnections, registerProtocol } from './http/connection.ts';
import { registerErrors, renderError } from './http/errors.ts';
import { healthRoutes } from './http/health.ts';
import { registerInput } from './http/input.ts';
import { acceptJson } from './http/json-body.ts';
import { addressLimit, hourlyLimit, registerLimits, tokenLimit } from './http/limits.ts';
import { registerMetrics } from './http/metrics.ts';
import { registerObserve } from './http/observe.ts';
import { CANONICAL_MOUNT, CLIENT_MOUNTS, openapiRoutes, registerOpenapi } from './http/openapi.ts';
import { contentSpaces } from './knowledge/bases.ts';
import type { Engine } from './knowledge/engine.ts';
import { sweepParts } from './knowledge/parts.ts';
import { knowledgeRoutes } from './knowledge/routes.ts';
import { sweepUploads } from './knowledge/uploads.ts';
import { forgetTransaction } from './ledger/forget.ts';
import { ledgerRoutes } from './ledger/routes.ts';
import { sweepDevices } from './login/device.ts';
import type { TokenLinks } from './login/links.ts';
import { sweepOauth } from './login/oauth/clients.ts';
import { oauthRoutes } from './login/oauth/routes.ts';
import { rootRoutes } from './login/root-routes.ts';
import { loginRoutes } from './login/routes.ts';
import { archive } from './memory/archive.ts';
import { oldShapes } from './memory/old-shapes.ts';
import { writePassages } from './memory/passage-store.ts';
import { passagesOf } from './memory/passages.ts';
import type { Sweep } from './memory/purge.ts';
import { type Progress, progressOf } from './memory/reembed.ts';
import { remember } from './memory/remember.ts';
import { memoryRoutes } from './memory/routes.ts';
import { placeOf, touchSpace } from './memory/store.ts';
import { unindexWords } from './memory/words.ts';
import { explainMatch, findByText } from './recall/match.ts';
import { acceptOldQuery } from './recall/old-shapes.ts';
import { renderReference } from './recall/render.ts';
import { statusOf } from './recall/results.ts';
import { recallRoutes } from './recall/routes.ts';
import { foldContent, neutralise } from './recall/sanitize.ts';
import { search } from './recall/search.ts';
import { snippetOf } from './recall/snippet.ts';
import { skillRoutes } from './skill/routes.ts';
import { OPERATION_NAMES } from './skill/schema.ts';
import { wordsOf } from './text/lexical.ts';
import { workRoutes } from './work/routes.ts';

/** What knowledge stands on: sections of documents are written, found and shown as memories are. */
export const ENGINE: Engine = {
  passagesOf,
  placeOf,
  writePassages,
  touchSpace,
  wordsOf,
  unindexWords,
  search,
  statusOf,
  snippetOf,
  renderReference,
  renderContent: (content) => neutralise(foldContent(content)),
};

/** What has ended is taken away even where nothing new comes. */
export const SWEEPS: readonly Sweep[] = [sweepUploads, sweepParts, sweepDevices, sweepOauth, sweepTokens, sweepAgents];

/** A content of 512 KiB may be six times as long when every byte is escaped in JSON; anything beyond is refused unread. */
const BODY_LIMIT = 4 * 1024 * 1024;

export async function buildApp(deps: Deps, secret: string): Promise<FastifyInstance> {
  const app = makeServer(deps);
  const progress = () => progressOf(deps);
  registerObserve(app);
  endConnections(app);
  const metricsRoute = registerMetrics(app, deps, progress);
  registerErrors(app);
  registerProtocol(app);
  keepOutOfCaches(app);
  await app.register(helmet, { global: true, contentSecurityPolicy: false });
  await registerCors(app, deps);
  await registerOpenapi(app);
  const authenticate = await registerAccess(app, deps, secret);

  const parts = { deps, authenticate, progress, tokens: tokenLinks(deps), limits: hourlyLimits(app, deps) };
  openapiRoutes(app);
  await registerRoot(app, parts);
  await app.register(metricsRoute);
  await app.register(mount(parts, 'strict'), { prefix: CANONICAL_MOUNT });
  for (const prefix of CLIENT_MOUNTS) await app.register(mount(parts, 'lenient'), { prefix });
  return app;
}

function makeServer({ config, log }: Deps): FastifyInstance {
  const app = Fastify({
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }), // http/observe.ts writes one line a request
    genReqId: () => uuidv7(),
    requestIdHeader: false,
    bodyLimit: BODY_LIMIT,
    ...connectionOptions(config),
    routerOptions: { ignoreTrailingSlash: true, ignoreDuplicateSlashes: true, maxParamLength: 256 },
    return503OnClosing: false, // what still arrives is answered, and its connection closed
    ...(config.TRUST_PROXY !== undefined && { trustProxy: config.TRUST_PROXY }),
    frameworkErrors: (error, request, reply) => void renderError(error, request, reply),
  });
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  acceptJson(app);
  return app;
}

/** What routes are made of. */
interface Parts {
  readonly deps: Deps;
  readonly authenticate: Authenticate;
  /** Of embedding what lacks vectors. */
  readonly progress: () => Progress | undefined;
  readonly tokens: TokenLinks;
  readonly limits: ReturnType<typeof hourlyLimits>;
}

/** Of what one address may make without a token. */
function hourlyLimits(app: FastifyInstance, { config }: Deps) {
  const { AGENT_REGISTRATIONS_PER_HOUR: registrations, DEVICE_LOGINS_PER_HOUR: logins } = config;
  return {
    agents: hourlyLimit(app, 'registration', registrations),
    programs: hourlyLimit(app, 'registration of a program', registrations),
    devices: hourlyLimit(app, 'login of a device', logins),
  };
}

/** At the root of the origin. */
async function registerRoot(app: FastifyInstance, { deps, authenticate, progress, tokens, limits }: Parts) {
  await app.register(rootRoutes(deps, authenticate, OPERATION_NAMES));
  await app.register(healthRoutes(deps, progress));
  await app.register(agentDiscovery(deps));
  await app.register(bindPage(deps, authenticate));
  await app.register(oauthRoutes(deps, tokens, authenticate, limits.programs));
}

/** The routes below a mount. `lenient`: for clients that are out there, with what their libraries send. */
const mount =
  ({ deps, authenticate, progress, tokens, limits }: Parts, input: 'strict' | 'lenient') =>
  async (app: FastifyInstance): Promise<void> => {
    if (input === 'lenient') acceptOldQuery(app);
    registerInput(app, input === 'lenient' ? 'drop' : 'refuse');
    if (input === 'lenient') await app.register(oldShapes(deps));
    await app.register(recallRoutes(deps, (principal, team) => contentSpaces(deps, principal, team)));
    await app.register(memoryRoutes(deps, { explainMatch, findByText, forgetTransaction }));
    await app.register(workRoutes(deps, { remember, archive }));
    await app.register(ledgerRoutes(deps));
    await app.register(skillRoutes(deps, authenticate));
    await app.register(loginRoutes(deps, tokens, limits.devices));
    await app.register(knowledgeRoutes(deps, ENGINE));
    await app.register(accessRoutes(deps));
    await app.register(teamRoutes(deps));
    await app.register(agentRoutes(deps, limits.agents));
    await app.register(auditRoutes(deps));
    await app.register(healthRoutes(deps, progress));
  };

/** What login makes of an approval. */
function tokenLinks(deps: Deps): TokenLinks {
  return {
    async insert(tx, actor, { scopes, teams, buckets, memoryScopes, agent, profile }, made) {
      const rights = {
        scopes,
        teams,
        buckets: buckets ?? null,
        memoryScopes: memoryScopes ?? null,
        agentId: agent ?? null,
        profile: profile ?? null,
      };
      const { row, token } = await insertToken(tx, actor, { ...rights, ...made }, deps.now());
      return { id: row.id, token };
    },
    renew: (tx, actor, id, renewed) => renewToken(tx, actor, id, renewed, deps.now()),
    revoke: async (tx, actor, id) => void (await endToken(tx, actor, id, deps.now())),
    changed: () => clearCache(deps.db),
  };
}

/** Answers hold memories and tokens, and X-API-Key means nothing to a cache: what does not say that it may be kept may not. */
function keepOutOfCaches(app: FastifyInstance): void {
  app.addHook('onSend', async (_request, reply) => {
    if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store');
  });
}

/** Off unless origins are named; never with cookies, which the service does not read. */
async function registerCors(app: FastifyInstance, { config }: Deps): Promise<void> {
  if (config.CORS_ORIGINS === undefined) return;
  const exposedHeaders = ['etag', 'retry-after', 'server-timing', 'x-request-id', 'x-xmemo-status'];
  await app.register(cors, { origin: config.CORS_ORIGINS.split(/,\s*/), exposedHeaders, strictPreflight: false });
}

/** The limits before and after the token is looked at, the token itself, and what is noted of it. */
async function registerAccess(app: FastifyInstance, deps: Deps, secret: string): Promise<Authenticate> {
  const { config, log } = deps;
  const lastUse = makeLastUse(deps);
  app.addHook('preClose', () => lastUse.settle());
  await registerLimits(app);
  app.addHook('onRequest', addressLimit(app, config.RATE_LIMIT_PER_ADDRESS));
  const authenticate = makeAuthenticate(deps, await registerJwt(app, config, secret, log), lastUse);
  registerAuth(app, { authenticate, idOf: tokenIdOf });
  app.addHook('onRequest', tokenLimit(app, config.RATE_LIMIT_PER_TOKEN));
  registerDenials(app, deps);
  return authenticate;
}
