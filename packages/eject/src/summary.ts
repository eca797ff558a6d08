import type { Created } from './create-project.ts'

/**
 * The files that were made, and what to type next. It fits 80 columns, except for long paths and names.
 * @param path of the project, as it was typed
 */
export function formatSummary({ name, hasBuild, files, unlocked, commit }: Created, path: string): string {
  const steps = [
    [unlocked === undefined ? 'npm ci' : 'npm install', 'pnpm install'],
    ...(hasBuild ? [['npm run build', 'pnpm build']] : []),
    ['npm test', 'pnpm test'],
    ['npm start', 'pnpm start'],
    ['npm run dev', 'pnpm dev'],
  ]
  return [
    `${name} is a project of its own now: ${files} files in ${path}`,
    ...(unlocked === undefined ? [] : [`It has no lockfile: ${unlocked}.`, NO_LOCKFILE]),
    ...(commit === undefined ? [] : [`First commit by ${commit.author}`]),
    ...(commit === undefined || commit.known ? [] : UNKNOWN_AUTHOR),
    '',
    'What next, with npm or with pnpm:',
    '',
    `  cd ${quote(path)}`,
    ...steps.map(([npm = '', pnpm = '']) => `  ${npm.padEnd(24)}${pnpm}`),
    '',
    'Or in a container:',
    '',
    '  docker compose up --build --wait',
    '',
  ].join('\n')
}

const NO_LOCKFILE = '`npm install` writes it. Commit it before you build the image.'

const UNKNOWN_AUTHOR = [
  'git does not know who you are. Once you have set user.name and user.email:',
  '  git commit --amend --reset-author --no-edit',
]

/** For a shell. */
function quote(path: string): string {
  return /^[\w./~+-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
}
