/** npm run model: prepares the model file in MODEL_DIR, so that an image or a read-only root starts fast. */
import { configOrExit, fail, makeLog, modelDir, openEmbedder } from './start.ts';

const config = configOrExit();
try {
  const embedder = await openEmbedder(config, makeLog(config));
  const { degraded, id } = embedder;
  await embedder.close();
  if (degraded) fail(new Error(`the model cannot be prepared: ${degraded}`));
  console.log(`${id} is ready in ${modelDir(config)}`);
} catch (error) {
  fail(error);
}
