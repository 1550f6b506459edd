/** The page on which an owner approves a device. */
import { alert, escaped, hidden, type Page } from '../http/page.ts';
import type { Asked } from './device.ts';

export interface PageState {
  readonly userCode: string;
  readonly token: string;
  readonly message?: string;
  /** Given: the code was found, and may be approved. */
  readonly asked?: Asked;
  /** Given: it is done. */
  readonly done?: 'approved' | 'denied';
}

export function devicePage({ userCode, token, message, asked, done }: PageState): Page {
  const rest = done
    ? `<p>The request was ${done}. You can close this page.</p>`
    : asked
      ? question(userCode, token, asked)
      : form(userCode);
  return { title: 'Approve a device', body: alert(message) + rest };
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
${hidden({ user_code: userCode, token })}
<button name="decision" value="approve">Approve</button><button name="decision" value="deny">Deny</button>
</form>`;
