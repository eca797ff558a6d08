import { testConformance } from '../../../packages/grid/test/conformance.ts'

testConformance('hono')
