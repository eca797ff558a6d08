import type { Project } from '../project.ts'

/** What is installed, built or written while it runs, and `.env`, which may hold secrets. */
export function gitignore({ runtime, hasBuild }: Project): string {
  const names = [
    'node_modules',
    ...(hasBuild ? ['.cache'] : []),
    ...(hasBuild || runtime === 'nginx' ? ['dist'] : []),
    ...(runtime === 'nginx' ? ['logs', 'run'] : []),
    '.env*',
  ]
  return `${names.join('\n')}\n`
}
