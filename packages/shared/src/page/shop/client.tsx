import { hydrate } from '../hydrate.tsx'
import Shop from './page.tsx'

hydrate(Shop)
