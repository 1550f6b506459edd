/** Starts a worker thread from compiled code, or from source under tsx and tap. */
import { Worker, type WorkerOptions } from 'node:worker_threads';

/** `name` is the file beside the caller, without its ending; `base` the caller's `import.meta.url`. */
export function startThread(name: string, base: string, options: WorkerOptions): Worker {
  if (!base.endsWith('.ts')) return new Worker(new URL(`./${name}.js`, base), options);
  return new Worker(new URL(`./${name}.ts`, base), { ...options, execArgv: loaderArguments() });
}

/** tsx leaves the workers of Node 20 without its loader, so they are told to register it. */
function loaderArguments(): string[] {
  if (!process.execArgv.some((argument) => argument.includes('/tsx/'))) return process.execArgv;
  const register = `import { register } from ${JSON.stringify(import.meta.resolve('tsx/esm/api'))}; register();`;
  return [...process.execArgv, `--import=data:text/javascript,${encodeURIComponent(register)}`];
}
