import { toJson } from './manifest.ts'
import { readWorkspaceFile } from './workspace.ts'

interface Configuration {
  linter: { rules: { security?: unknown } }
}

/** The project's biome.json: that of the workspace, without the rule for React that Biome sets itself where it finds React. */
export async function writeLint(): Promise<string> {
  const configuration = JSON.parse(await readWorkspaceFile('biome.json')) as Configuration
  delete configuration.linter.rules.security
  return toJson(configuration)
}
