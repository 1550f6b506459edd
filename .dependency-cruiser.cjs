/**
 * Who may import whom: bin → app → capabilities → http → db, embed, text → types, errors (and config, deps).
 * A type-only import is free everywhere, since it leaves nothing at run time. Each comment says what to do instead.
 */
const CAPABILITY = 'recall|memory|access|work|knowledge|ledger|audit|skill|login';
const GROUND = 'types|errors|config|deps|faults';

/** At run time only. */
const values = { dependencyTypesNot: ['type-only'] };

/** A package that comes in through one door. `door` is a pattern of the files that may import it. */
const door = (name, packagePath, doorPath, comment) => ({
  name: `${name}-has-one-door`,
  comment,
  severity: 'error',
  from: { path: '^src/', pathNot: doorPath },
  to: { path: `(^|/)node_modules/${packagePath}/`, ...values },
});

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    // ---- the order of the folders
    {
      name: 'ground-stands-alone',
      comment: 'types, errors, faults, config and deps are below everything. Move what they need down to them, or pass it in.',
      severity: 'error',
      from: { path: `^src/(${GROUND})\\.ts$` },
      to: { path: '^src/', pathNot: `^src/(${GROUND})\\.ts$`, ...values },
    },
    {
      name: 'db-embed-text-know-no-requests',
      comment:
        'db, embed and text serve every capability and know none, nor HTTP. Pass the value in, or move the function up to the one capability that needs it.',
      severity: 'error',
      from: { path: '^src/(db|embed|text)/' },
      to: { path: `^src/(http|${CAPABILITY}|bin)/|^src/app\\.ts$`, ...values },
    },
    {
      name: 'text-is-pure',
      comment: 'text takes strings and gives values. What talks to the database or a model belongs into db, embed or a capability.',
      severity: 'error',
      from: { path: '^src/text/' },
      to: { path: '^src/(db|embed)/', ...values },
    },
    {
      name: 'db-and-embed-apart',
      comment: 'Vectors reach db as numbers and embed never queries. The capability calls one and then the other.',
      severity: 'error',
      from: { path: '^src/(db|embed)/' },
      to: { path: '^src/(db|embed)/', pathNot: '^src/$1/', ...values },
    },
    {
      name: 'http-knows-no-capability',
      comment: 'http is what all routes share. Let app.ts hand it the function, as it does for the check of a token.',
      severity: 'error',
      from: { path: '^src/http/' },
      to: { path: `^src/(${CAPABILITY}|bin)/|^src/app\\.ts$`, ...values },
    },
    {
      name: 'capabilities-keep-to-themselves',
      comment:
        'Capabilities meet in db, text and types only. Move the shared part down there; two similar lines may also stay two lines.',
      severity: 'error',
      from: { path: `^src/(${CAPABILITY})/` },
      to: { path: `^src/(${CAPABILITY})/`, pathNot: '^src/$1/', ...values },
    },
    {
      name: 'verbs-and-sql-below-routes',
      comment: 'A verb works without HTTP, so that tests and jobs can call it. Take plain values and throw rows of errors.ts.',
      severity: 'error',
      from: { path: `^src/(${CAPABILITY})/`, pathNot: '/(routes|schema)\\.ts$' },
      to: { path: '/routes\\.ts$', ...values },
    },
    {
      name: 'app-is-the-top',
      comment: 'Only bin (and tests) build the application. Take what you need as an argument, from Deps.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/bin/' },
      to: { path: '^src/app\\.ts$|^src/bin/', ...values },
    },

    // ---- packages with one door
    door('pg', 'pg', '^src/db/', 'Ask through db/db.ts: it sets the role, translates SQLSTATEs and counts. Type-only imports are free.'),
    door('tiktoken', 'tiktoken', '^src/recall/tokens\\.ts$', 'Take countTokens from Deps: the door bounds long runs, which are quadratic, and loads the table once.'),
    door('onnxruntime', 'onnxruntime-node', '^src/embed/minilm/', 'Take embedder from Deps: the native library lives in a worker and may fail to load.'),
    door('electric-sql', '@electric-sql', '^src/db/embedded\\.ts$', 'Take db from Deps: the embedded database is opened once, under a lock file.'),
    door('porter2', 'wink-porter2-stemmer', '^src/text/', 'Call analyse(): terms of a question must be made as those of a memory were.'),

    // ---- hygiene
    {
      name: 'no-cycles',
      comment: 'Move what both need into a third file, or pass one of them in as an argument.',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'src-without-tests',
      comment: 'The image holds src only. Move the helper into src when it is of use there.',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^(test|bench)/' },
    },
    {
      name: 'imported-by-somebody',
      comment: 'Nobody imports this file: delete it, or import it. Only programs (bin, the model worker) stand alone.',
      severity: 'error',
      from: { path: '^src/' },
      module: {
        path: '^src/',
        pathNot: '^src/bin/|^src/(embed/minilm|knowledge/read)/worker\\.ts$|\\.d\\.ts$',
        numberOfDependentsLessThan: 1,
      },
    },
    {
      name: 'no-dev-dependencies-in-src',
      comment: 'It would be missing in the image. Move the package to dependencies, or do without.',
      severity: 'error',
      from: { path: '^src/' },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'], pathNot: '^node_modules/@types/' },
    },
    {
      name: 'only-declared-packages',
      comment: 'The package is there by luck, through another one. Add it to package.json.',
      severity: 'error',
      from: {},
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
    },
    {
      name: 'resolvable',
      comment: 'The file or package does not exist. Mind the .ts ending of local imports.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^dist/' },
    tsConfig: { fileName: 'tsconfig.json' },
    // sees type-only imports too, and marks them
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  },
};
