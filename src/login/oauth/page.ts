/** The page on which an owner lets a program in. */
import { alert, escaped, hidden, type Page } from '../../http/page.ts';
import { describeTarget, sourceOf } from './redirects.ts';
import type { AuthorizeRequest } from './request.ts';

export function authorizePage({ client, redirectUri, scopes, sent }: AuthorizeRequest, message?: string): Page {
  const name = escaped(client.name ?? client.id);
  const body = `${alert(message)}<form method="post" action="/oauth/authorize">
<p>A program that calls itself <strong>${name}</strong> asks to act for you:</p>
<ul>${scopes.map((scope) => `<li>${escaped(scope)}</li>`).join('')}</ul>
<p>It gets no more than your own token may do. The answer goes to <strong>${escaped(describeTarget(redirectUri))}</strong>.
Approve only if you started this yourself. You can take it back in the list of your tokens.</p>
${hidden(sent as Record<string, string>)}
<label>Your token, with the scope tokens:manage<input name="token" type="password" autocomplete="off" required></label>
<button name="decision" value="approve">Approve</button><button name="decision" value="deny" formnovalidate>Deny</button>
</form>`;
  return { title: 'Let a program in', body, leadsTo: sourceOf(redirectUri) };
}

export const faultyPage = (why: string): Page => ({
  title: 'Let a program in',
  body: `${alert(why)}<p>Nothing was given to it. Go back to the program and start again.</p>`,
});
