import type { AppOptions } from '#shared/app-options.ts'
import { serve } from '#shared/testing/app.ts'
import { testPage, testPageUnderLoad } from '#shared/testing/page.ts'
import { createFailingApp } from '../fixtures/failing.ts'
import { ssr } from '../src/ssr.ts'

const start = (options: AppOptions) => serve(createFailingApp(options, ssr))
testPage(start)
testPageUnderLoad(start)
