/** npm run gateway: Streamable HTTP. npm run gateway -- --stdio: for a client that starts the gateway itself. */
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import closeWithGrace from 'close-with-grace';
import { z } from 'zod';
import { makeHttpServer } from './http.ts';
import { makeServer } from './server.ts';
import { makeService } from './service.ts';

const environment = z.object({
  XMEMO_URL: z.url({ protocol: /^https?$/ }).default('http://127.0.0.1:8080'),
  XMEMO_TOKEN: z.string().min(1).optional(),
  XMEMO_AGENT_ID: z.string().min(1).max(256).optional(),
  XMEMO_AGENT_INSTANCE_ID: z.string().min(1).max(256).optional(),
  GATEWAY_HOST: z.string().min(1).default('127.0.0.1'),
  GATEWAY_PORT: z.coerce.number().int().min(0).max(65535).default(8090),
});

// stdout belongs to the protocol
const log = (line: string): void => console.error(`xmemo-mcp-gateway: ${line}`);

const parsed = environment.safeParse(
  Object.fromEntries(Object.entries(process.env).filter(([, value]) => value !== '')),
);
if (!parsed.success) {
  for (const issue of parsed.error.issues) log(`${issue.path.join('.')}: ${issue.message}`);
  process.exit(1);
}
const { XMEMO_URL, XMEMO_TOKEN, XMEMO_AGENT_ID, XMEMO_AGENT_INSTANCE_ID, GATEWAY_HOST, GATEWAY_PORT } = parsed.data;

if (process.argv.includes('--stdio')) {
  if (XMEMO_TOKEN === undefined) {
    log('XMEMO_TOKEN is not set: give it a token of the memory service');
    process.exit(1);
  }
  const service = makeService(XMEMO_URL, {
    authorization: `Bearer ${XMEMO_TOKEN}`,
    agentId: XMEMO_AGENT_ID,
    agentInstanceId: XMEMO_AGENT_INSTANCE_ID,
  });
  const server = makeServer(service);
  await server.connect(new StdioServerTransport());
  closeWithGrace({ delay: 2_000 }, () => server.close());
} else {
  const server = makeHttpServer(XMEMO_URL, log);
  server.listen(GATEWAY_PORT, GATEWAY_HOST, () =>
    log(`POST http://${GATEWAY_HOST}:${GATEWAY_PORT}/mcp, for the service at ${XMEMO_URL}`),
  );
  closeWithGrace({ delay: 10_000 }, () => new Promise<void>((done) => void server.close(() => done())));
}
