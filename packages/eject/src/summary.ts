import type { Created } from './create-project.ts'
import { OLDEST_NODE } from './files/start.ts'

/**
 * What was made, and what to type next. It fits 80 columns, except for long paths and names.
 * @param path of the project, as it was typed
 */
export function formatSummary({ name, role, files, locked, unlocked, known }: Created, path: string): string {
  return [
    `${name} is a project of its own now: ${files} files in ${path}`,
    ...(unlocked === undefined ? [] : [`It has no lockfile: ${unlocked}.`]),
    ...(known ? [] : UNKNOWN_AUTHOR),
    '',
    `  cd ${quote(path)}`,
    `  ${locked ? 'npm ci' : 'npm install'} && npm run dev   # needs Node ${OLDEST_NODE} or newer`,
    '',
    `Then open http://127.0.0.1:3000, and edit src/${role}.ts. README.md has the rest.`,
    '',
  ].join('\n')
}

const UNKNOWN_AUTHOR = [
  'git does not know who you are. Once you have set user.name and user.email:',
  '  git commit --amend --reset-author --no-edit',
]

/** For a shell. */
function quote(path: string): string {
  return /^[\w./~+-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
}
