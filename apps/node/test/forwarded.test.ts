import { testForwarded } from '#shared/testing/forwarded.ts'
import { createFailingApp } from '../fixtures/failing.ts'

testForwarded((options) => createFailingApp(options, []))
