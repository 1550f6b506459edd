/** What a newcomer reads after npm start: the address, a token, and three lines to paste. */
import { CANONICAL_MOUNT } from '../http/openapi.ts';

export function welcome(address: string, token: string): string {
  const base = `${address}${CANONICAL_MOUNT}`;
  return `
xmemo-api listens on ${address}
Reference page: ${base}

A token for the owner "demo", good for 30 days:

export TOKEN=${token}

Store a memory, ask for a context pack as text, and as JSON:

curl -sw '\\n' ${base}/remember -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d '{"content":"Deploys go out on Tuesdays after the stand-up, never on Fridays.","path":"team/rules"}'

curl -sw '\\n' "${base}/recall/context?query=when+do+we+deploy" -H "Authorization: Bearer $TOKEN" -H 'Accept: text/plain'

curl -sw '\\n' "${base}/recall/context?query=when+do+we+deploy&max_tokens=500" -H "Authorization: Bearer $TOKEN"
`;
}
