import type { Expression } from 'oxc-parser'
import { editAll, editOnce } from './edit.ts'

/** A Bun app is one process, because Bun's `node:cluster` shares no port. So questions about worker or primary are resolved here. */

/** Files that ask, each with at least one place. */
export const ASKING = ['shared/process/lifecycle.ts', 'shared/process/log.ts'] as const

/** Keeps the branches that apply outside a cluster. */
export function leaveCluster(path: string, text: string): string {
  const asks = ({ start, end }: Expression) =>
    /\bcluster\.(?:isWorker|isPrimary|worker)\b/.test(text.slice(start, end))
  return editAll(path, text, 'questions about the cluster', (replace) => ({
    IfStatement({ start, end, test, alternate }) {
      if (asks(test))
        replace({ start, end }, alternate === null ? '' : text.slice(alternate.start, alternate.end))
    },
    ConditionalExpression({ start, end, test, consequent }) {
      if (asks(test)) replace({ start, end }, text.slice(consequent.start, consequent.end))
    },
  }))
}

/** On Node, code need not ask whether it runs on Bun. */
export function leaveBun(path: string, text: string): string {
  return editOnce(path, text, 'the question whether this is Bun', (replace) => ({
    IfStatement(node) {
      if (text.slice(node.test.start, node.test.end).includes('process.versions.bun')) replace(node, '')
    },
  }))
}
