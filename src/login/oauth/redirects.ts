/** Addresses that a program may be sent back to with a code: the whole safety of a public client. Pure. */

const LOOPBACK = new Set(['127.0.0.1', '[::1]', 'localhost']);

/** Schemes that a browser or an operating system handles itself: no program registers them as its own. */
const TAKEN =
  /^(?:https?|wss?|ftps?|file|filesystem|jar|javascript|livescript|mocha|vbscript|data|blob|about|view-source|mailto|tel|sms|chrome|resource|shell|intent|search-ms|ms-.*|x-apple.*):$/;

/** A host in full, and none of the other characters that a URL may have in it: they would end a directive of the content security policy. */
const WITH_HOST = /^https?:\/\/(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d+)?(?:[/?]|$)/i;

const isLoopback = ({ protocol, hostname }: URL): boolean => protocol === 'http:' && LOOPBACK.has(hostname);

/** https, http on a loopback address, or a scheme of the program's own (`vscode://…`). No fragment, no user, nothing that is not plain text. */
export function isRedirectUri(uri: string): boolean {
  if (!/^[\x21-\x7e]{1,2048}$/.test(uri) || /[#*\\]/.test(uri) || !URL.canParse(uri)) return false;
  const url = new URL(uri);
  if (url.username !== '' || url.password !== '') return false;
  if (/^https?:$/.test(url.protocol) && !WITH_HOST.test(uri)) return false;
  return url.protocol === 'https:' || isLoopback(url) || !TAKEN.test(url.protocol);
}

/** To the letter; the port of a loopback address is free, since a program takes the one that it gets (RFC 8252, 7.3). */
export function isRegistered(uri: string, registered: readonly string[]): boolean {
  return isRedirectUri(uri) && registered.some((known) => known === uri || withoutPort(known) === withoutPort(uri));
}

/** Undefined when it is no loopback address, so that it equals nothing but itself. */
function withoutPort(uri: string): string | symbol {
  const url = new URL(uri);
  if (!isLoopback(url)) return Symbol(uri);
  url.port = '';
  return url.href;
}

/** For the owner who decides: where the answer goes. */
export function describeTarget(uri: string): string {
  const url = new URL(uri);
  if (isLoopback(url)) return 'a program on this computer';
  return url.protocol === 'https:' ? url.host : `the program that opens ${url.protocol}`;
}

/** The same for the content security policy: browsers hold a redirect after a form to its form-action as well. */
export function sourceOf(uri: string): string {
  const url = new URL(uri);
  // a policy cannot name an IPv6 address
  return /^https?:$/.test(url.protocol) && !url.hostname.startsWith('[') ? url.origin : url.protocol;
}

export function withParams(uri: string, params: Readonly<Record<string, string | undefined>>): string {
  const url = new URL(uri);
  for (const [name, value] of Object.entries(params)) if (value !== undefined) url.searchParams.set(name, value);
  return url.href;
}
