export { seeded } from '../src/random.ts'
