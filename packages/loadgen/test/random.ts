export { seeded } from '../src/engine/random.ts'
