/** The page on which an owner approves a device: no script, no cookie; the token that is pasted is what signs in. */
import type { Asked } from './device.ts';

/** Nothing is loaded, nobody frames it, the form goes nowhere else. */
export const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
} as const;

export interface PageState {
  readonly userCode: string;
  readonly token: string;
  readonly message?: string;
  /** Given: the code was found, and may be approved. */
  readonly asked?: Asked;
  /** Given: it is done. */
  readonly done?: 'approved' | 'denied';
}

export function renderPage({ userCode, token, message, asked, done }: PageState): string {
  const told = message === undefined ? '' : `<p role="alert"><strong>${escaped(message)}</strong></p>`;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Approve a device</title>
<style>body{font:1rem/1.5 system-ui,sans-serif;max-width:32rem;margin:3rem auto;padding:0 1rem}label{display:block;margin:1rem 0}input{display:block;width:100%;font:inherit;padding:.4rem}button{font:inherit;padding:.4rem 1rem;margin-right:.5rem}</style>
<h1>Approve a device</h1>
${told}${done ? `<p>The request was ${done}. You can close this page.</p>` : asked ? question(userCode, token, asked) : form(userCode)}
</html>
`;
}

const form = (userCode: string): string => `<form method="post" action="/device">
<label>Code that the device shows<input name="user_code" value="${escaped(userCode)}" autocomplete="off" required></label>
<label>Your token, with the scope tokens:manage<input name="token" type="password" autocomplete="off" required></label>
<button name="decision" value="review">Continue</button>
</form>`;

const question = (
  userCode: string,
  token: string,
  { clientId, clientVersion, scopes }: Asked,
): string => `<form method="post" action="/device">
<p>The program <strong>${escaped(clientId)}</strong>${clientVersion === null ? '' : ` (${escaped(clientVersion)})`} with the code
<strong>${escaped(userCode)}</strong> asks to act for you:</p>
<ul>${scopes.map((scope) => `<li>${escaped(scope)}</li>`).join('')}</ul>
<p>Approve only if you started this yourself.</p>
<input type="hidden" name="user_code" value="${escaped(userCode)}"><input type="hidden" name="token" value="${escaped(token)}">
<button name="decision" value="approve">Approve</button><button name="decision" value="deny">Deny</button>
</form>`;

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character]!);
