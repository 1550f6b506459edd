/** How the body of a request becomes a value. */
import { isUtf8 } from 'node:buffer';
import type { FastifyInstance } from 'fastify';
import { ApiError } from '../errors.ts';

/** All that the parser refuses of what is JSON. */
const PROTOTYPE = 'the body has a key __proto__, or a constructor with a prototype, which are not taken';

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** JSON in UTF-8. Clients send Content-Type: application/json with an empty body; that is no fault of JSON. */
export function acceptJson(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    if (body.length === 0) done(null, undefined);
    // decoded all the same, other bytes would be stored as question marks
    else if (!isUtf8(body as Buffer)) done(new ApiError('bad_json', 'the body is not valid UTF-8'));
    else {
      const text = body.toString();
      void parse(request, text, (error, parsed) =>
        done(error && isJson(text) ? new ApiError('bad_json', PROTOTYPE) : error, parsed),
      );
    }
  });
  app.removeContentTypeParser('text/plain');
}
