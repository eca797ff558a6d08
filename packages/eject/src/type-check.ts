import { toJson } from './manifest.ts'
import type { Code } from './project.ts'
import { readWorkspaceFile } from './workspace.ts'

interface Base {
  compilerOptions: Record<string, unknown>
}

/** The project's tsconfig.json: those options of the workspace that the app needs, and its own. */
export async function writeTypeCheck({ compilerOptions, include, exclude }: Code): Promise<string> {
  const base = JSON.parse(await readWorkspaceFile('tsconfig.base.json')) as Base
  return toJson({ compilerOptions: { ...base.compilerOptions, ...compilerOptions }, include, exclude })
}
