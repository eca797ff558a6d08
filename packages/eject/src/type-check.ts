import { toJson } from './manifest.ts'
import type { Code } from './project.ts'
import { readWorkspaceFile } from './workspace.ts'

interface Base {
  compilerOptions: Record<string, unknown>
}

/** The project's tsconfig.json: the options of all packages of the workspace, as far as the app has a use for them, and its own. */
export async function writeTypeCheck({ compilerOptions, include }: Code): Promise<string> {
  const base = JSON.parse(await readWorkspaceFile('tsconfig.base.json')) as Base
  const { resolveJsonModule: _, ...common } = base.compilerOptions
  return toJson({ compilerOptions: { ...common, ...compilerOptions }, include })
}
