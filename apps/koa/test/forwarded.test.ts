import Router from '@koa/router'
import { testForwarded } from '#shared/testing/forwarded.ts'
import { createFailingApp } from '../fixtures/failing.ts'

testForwarded((options) => createFailingApp(options, new Router()))
