/** What knowledge uses of memory and recall. The application hands it over, so that capabilities do not know each other's inside. */

import type { writePassages } from '../memory/passage-store.ts';
import type { passagesOf } from '../memory/passages.ts';
import type { placeOf, touchSpace } from '../memory/store.ts';
import type { unindexWords } from '../memory/words.ts';
import type { renderReference } from '../recall/render.ts';
import type { statusOf } from '../recall/results.ts';
import type { search } from '../recall/search.ts';
import type { snippetOf } from '../recall/snippet.ts';
import type { wordsOf } from '../text/lexical.ts';

export interface Engine {
  readonly passagesOf: typeof passagesOf;
  readonly placeOf: typeof placeOf;
  readonly writePassages: typeof writePassages;
  readonly touchSpace: typeof touchSpace;
  readonly wordsOf: typeof wordsOf;
  readonly unindexWords: typeof unindexWords;
  readonly search: typeof search;
  readonly statusOf: typeof statusOf;
  readonly snippetOf: typeof snippetOf;
  readonly renderReference: typeof renderReference;
  /** A content as it stands in a text answer: it can fake no line of ours. */
  readonly renderContent: (content: string) => string;
}
