import type { Project } from '../project.ts'

/** Installed files, build output and run-time files, and `.env`, which may contain secrets. */
export function gitignore({ runtime, hasBuild }: Project): string {
  const names = [
    'node_modules',
    ...(hasBuild || runtime === 'nginx' ? ['dist'] : []),
    ...(runtime === 'nginx' ? ['logs', 'run'] : []),
    '.env*',
  ]
  return `${names.join('\n')}\n`
}
