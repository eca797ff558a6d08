export { SECURITY_HEADERS } from './contract/judge.ts'
export type { Difference } from './contract/probe.ts'
export { formatReport } from './contract/report.ts'
export {
  checkConformance,
  type Options,
  type Report,
  type Skipped,
} from './contract/runner.ts'
export { CAPABILITIES, type Capability, ROLES, type Role } from './contract/subject.ts'
export { NoResponse } from './http/source.ts'
export type { Target } from './http/target.ts'
