import type { Project } from '../project.ts'
import { gitignore } from './gitignore.ts'

/** What no image needs, or makes itself; nothing of it can leak into one. */
export function dockerignore(project: Project): string {
  return `.git\n.github\n${gitignore(project)}test\n*.md\nDockerfile\ncompose.yaml\n`
}
