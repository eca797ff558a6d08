import { H3 } from 'h3'
import { testForwarded } from '#shared/testing/forwarded.ts'
import { createFailingApp } from '../fixtures/failing.ts'

testForwarded((options) => createFailingApp(options, new H3()))
