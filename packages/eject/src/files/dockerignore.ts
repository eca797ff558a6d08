import type { Project } from '../project.ts'
import { gitignore } from './gitignore.ts'

/** Files that images do not need or create themselves. None of them can leak into an image. */
export function dockerignore(project: Project): string {
  return `.git\n.github\n${gitignore(project)}test\n*.md\nDockerfile\ncompose.yaml\n`
}
