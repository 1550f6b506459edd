/** The thread that reads a file of an attacker: it may take all its time and memory, and is ended when it does. */
import { parentPort, workerData } from 'node:worker_threads';
import { type Extracted, Refused } from './extracted.ts';
import { readHtml } from './html.ts';
import { readPdf } from './pdf.ts';

export type Task =
  | { readonly type: 'pdf'; readonly bytes: Uint8Array }
  | { readonly type: 'html'; readonly html: string };

export type Outcome =
  | { readonly extracted: Extracted }
  | { readonly refused: { readonly code: Refused['code']; readonly message: string } };

async function outcomeOf(task: Task): Promise<Outcome> {
  try {
    return { extracted: task.type === 'pdf' ? await readPdf(task.bytes) : readHtml(task.html) };
  } catch (error) {
    if (error instanceof Refused) return { refused: { code: error.code, message: error.message } };
    // what the parser says of a broken file may quote it
    return { refused: { code: 'unreadable_document', message: 'the document is broken' } };
  }
}

parentPort?.postMessage(await outcomeOf(workerData as Task));
