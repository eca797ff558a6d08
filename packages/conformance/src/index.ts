export { NoResponse } from '@startgrid/wire/reader.ts'
export { formatReport } from './contract/report.ts'
export { checkConformance, type Options, type Report } from './contract/runner.ts'
export { CAPABILITIES, type Capability, ROLES, type Role } from './contract/subject.ts'
