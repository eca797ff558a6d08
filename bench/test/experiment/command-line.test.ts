import assert from 'node:assert/strict'
import { test } from 'node:test'
import { namesOf, withoutValues } from '../../src/experiment/command-line.ts'
import { createRace } from '../../src/experiment/race.ts'

for (const [one, other, names] of [
  ['node before.js', 'node after.js', 'before | after'],
  ['node server.js', 'bun server.ts', 'A | B'],
  ['node s.js', 'node --jitless s.js', 'A | B'],
  ['/opt/node22/bin/node s.js', '/opt/node24/bin/node s.js', 'A | B'],
  ['cd old && npm start', 'cd new && npm start', 'A | B'],
  ['http://127.0.0.1:3000', 'http://127.0.0.1:3001', '127.0.0.1:3000 | 127.0.0.1:3001'],
  ['uvicorn old:app --port {port}', 'npx -y serve -l {port}', 'old:app | serve'],
  ['python3 -m http.server {port}', 'python3 -m http.server {port}', 'http.server | http.server (again)'],
  ['TOKEN=s3cret node hi.mjs', 'node hi.mjs', 'A | B'],
  ['TOKEN=s3cret node hi.mjs', 'TOKEN=other node hi.mjs', 'A | B'],
  ['gunicorn -w 2 -b [::]:{port} app:app', 'gunicorn -w 4 -b [::]:{port} app:app', 'A | B'],
  ['sh -c "exec node a.js"', 'sh -c "exec node b.js"', 'A | B'],
] as const)
  test(`${one} and ${other} are called ${names}`, () =>
    assert.equal(namesOf([one, other]).join(' | '), names))

for (const [line, told] of [
  [`A=s3cret B='s3 cret' node c.js; D="s3 cret" run`, 'A=… B=… node c.js ; D=… run'],
  ['env TOKEN=s3cret node --env-file=s3cret c.js', 'env TOKEN=… node --env-file=… c.js'],
  ['npx -y serve -ps3cret -p s3cret s3cret', 'npx -y serve -p… -p … …'],
  ['npx https://me:s3cret@host/?key=s3cret', 'npx …'],
  ['A=`printf s3cret` B=$(cat s3cret) node c.js', 'A=… ` printf … ` B=… ( cat … ) node c.js'],
  ['echo s3cret | node c.js > s3cret', 'echo … | node c.js > …'],
  ['node c.js <<END\ns3cret\nEND', 'node c.js'],
  ['java -Dkey=s3cret -jar c.jar', 'java -D… -j… c.jar'],
  ['cd /home/s3cret/app && ~/s3cret/node ./src/c.js', 'cd …/app && …/node ./src/c.js'],
  ['node -e "s3cret" --header "x: s3cret"', 'node -e … --header …'],
] as const)
  test(`what is told of a command has no value: ${told}`, () => {
    assert.equal(withoutValues(line), told)
    assert.doesNotMatch(namesOf([line, 'node d.js']).join(' '), /s3/)
  })

test('paths that differ in hidden values stay two races', () => {
  const systems = [{ name: 'a' }, { name: 'b' }]
  const requests = [{ path: '/?key=s3cret' }, { path: '/?key=other' }, { path: '/?items=50&key=x' }]
  const { races } = createRace({ systems, requests, connections: 1 })
  assert.deepEqual(Object.keys(races), ['GET /?key=…', 'GET /?key=… (2)', 'GET /?items=50&key=…'])
})
