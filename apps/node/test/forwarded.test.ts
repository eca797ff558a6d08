import { testForwarded } from '#shared/testing-before/forwarded.ts'
import { createFailingApp } from '../fixtures/failing.ts'
import { secondWeek } from '../fixtures/second-week.ts'

testForwarded((options) => createFailingApp(options, secondWeek))
