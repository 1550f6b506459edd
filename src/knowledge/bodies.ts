/** Documents as requests carry them: the file itself as the body, its bytes in JSON, or its text in JSON. */
import type { FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { z } from 'zod';
import { ApiError, invalid } from '../errors.ts';
import { toDate } from '../http/fields.ts';
import type { Upload } from './ingest.ts';
import { DOCUMENT_TYPES, type DocumentType, type File } from './read/index.ts';
import type * as wire from './schema.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The bytes of a body that is a file. */
    file: File | null;
  }
}

export type UploadRequest = FastifyRequest & {
  readonly query: z.infer<typeof wire.uploadQuery>;
  readonly body: z.infer<typeof wire.uploadBody>;
};

/** `id`: of the document that is replaced. */
export function toUpload(request: UploadRequest, id?: string): Upload {
  const { query, body, file } = request;
  return {
    file: file ?? fileOf(body),
    title: body.title ?? query.title ?? body.filename,
    source: body.source ?? query.source,
    occurredAt: toDate(body.occurred_at ?? query.occurred_at),
    id,
  };
}

function fileOf({ content, text = content, content_base64, content_type, filename = '' }: UploadRequest['body']): File {
  const type = content_type ?? typeOf(filename);
  if (content_base64 !== undefined) return { type, bytes: Buffer.from(content_base64, 'base64') };
  if (text === undefined)
    throw invalid('body', 'text', 'is needed, or the file itself as the body with its Content-Type');
  if (type === 'application/pdf') throw invalid('body', 'content_type', 'a PDF is no text: send its bytes');
  return { type, bytes: Buffer.from(text) };
}

const BY_ENDING: Readonly<Record<string, DocumentType>> = {
  pdf: 'application/pdf',
  html: 'text/html',
  htm: 'text/html',
  txt: 'text/plain',
};

const typeOf = (filename: string): DocumentType =>
  BY_ENDING[filename.split('.').at(-1)!.toLowerCase()] ?? 'text/markdown';

/** Bodies that are files, here only. They stay out of `body`, whose fields are looked at one by one. */
export function acceptFiles(app: Parameters<FastifyPluginAsyncZod>[0]): void {
  for (const type of DOCUMENT_TYPES) {
    app.addContentTypeParser(type, { parseAs: 'buffer' }, (request, bytes, done) => {
      const charset = /;\s*charset="?([\w.:-]{1,40})/i.exec(request.headers['content-type'] ?? '')?.[1];
      request.file = { type, bytes: bytes as Buffer, charset };
      done(null, {});
    });
  }
  app.addContentTypeParser('*', (_request, _payload, done) => {
    done(
      new ApiError(
        'unsupported_media_type',
        `a document is one of ${DOCUMENT_TYPES.join(', ')}, or JSON with its text`,
      ),
    );
  });
}
