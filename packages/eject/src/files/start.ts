/** What the scripts in package.json need, because one that sets a variable or calls a shell runs on some systems only. */

/** The oldest Node that runs a project: the first one with `shouldUpgradeCallback`, by which a stop closes WebSockets. */
export const OLDEST_NODE = '24.9'

export const REQUIRE_NODE = 'shared/process/require-node.js'

/** An older Node cannot read TypeScript, and would not say so. So this is JavaScript that every Node reads. */
export function requireNode(): string {
  const [major, minor] = OLDEST_NODE.split('.')
  return `// \`npm start\` runs this first, because an older Node cannot read the TypeScript of this project.
const [major, minor] = process.versions.node.split('.').map(Number)
if (major < ${major} || (major === ${major} && minor < ${minor})) {
  console.error(\`This needs Node ${OLDEST_NODE} or newer, but runs on \${process.version}: install a newer one from https://nodejs.org.\`)
  process.exit(1)
}
`
}

export const PRODUCTION = 'production.env'

export function productionEnv(): string {
  return `# \`npm start\` sets this. Settings of this machine belong into .env, which git ignores; variables of the shell win over both.
NODE_ENV=production
`
}

/**
 * A person's own settings, empty at first. It is there from the start, because `node --watch` with `--env-file-if-exists` crashes at Ctrl-C
 * if it is missing (https://github.com/nodejs/node/pull/64821).
 */
export const OWN_ENV =
  '# Settings of this machine, such as PORT=8080. README.md lists all. Git and images leave this file out.\n'
