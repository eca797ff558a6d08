import type { AppOptions } from '#shared/process/lifecycle.ts'
import { testPage, testPageUnderLoad } from '#shared/testing-before/page.ts'
import { serve } from '#shared/testing-before/serve.ts'
import { createFailingApp } from '../fixtures/failing.ts'
import { ssr } from '../src/ssr.ts'

const start = async (options: AppOptions) => serve(await createFailingApp(options, ssr), options)
testPage(start)
testPageUnderLoad(start)
