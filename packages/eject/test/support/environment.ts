import { delimiter } from 'node:path'
import { ROOT } from '../../src/source.ts'

/**
 * The environment of a person who has a Node, and nothing of the workspace: neither its programs on the PATH nor what pnpm, turbo and
 * the test runner tell the processes that they start.
 * @param node its directory
 */
export function personalEnvironment(node: string): NodeJS.ProcessEnv {
  const { PATH = '', ...others } = process.env
  const strangers = PATH.split(delimiter).filter((directory) => !directory.startsWith(ROOT))
  const kept = Object.entries(others).filter(
    ([name]) =>
      !/^(npm_(?!config_(registry|cache|userconfig)$)|pnpm_|TURBO|NODE_TEST|NODE_ENV$|INIT_CWD$)/i.test(name),
  )
  return {
    ...Object.fromEntries(kept),
    // npm's own settings for certificates are found beside the Node of the machine, and this is another one.
    NODE_USE_SYSTEM_CA: '1',
    PATH: [node, ...strangers].join(delimiter),
  }
}
