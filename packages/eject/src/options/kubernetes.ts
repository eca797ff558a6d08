import type { App } from '@startgrid/grid/apps.ts'
import { type Document, isMap, isScalar, parseAllDocuments } from 'yaml'
import type { Option } from './option.ts'

const BASE = 'deploy/kubernetes/base'

/** Stands for `{{label}}` until the text is written: YAML would quote the braces. */
const LABEL = 'startgrid-label'

/** The manifests of this repository under the name of the project. They are the same objects, so what is tested here is true there. */
export const kubernetes: Option = {
  name: 'kubernetes',
  title: 'Manifests for Kubernetes',
  describe(app, read) {
    const copies = ['service', 'disruption-budget', 'service-account', 'network-policy'].map((name) => [
      `kubernetes/${name}.yaml`,
      write(readBase(read, `${name}.yaml`)),
    ])
    return {
      files: {
        'kubernetes/kustomization.yaml': KUSTOMIZATION,
        'kubernetes/deployment.yaml': write(adapt(app, readBase(read, 'deployment.yaml'))),
        ...Object.fromEntries(copies),
      },
      readme: README,
    }
  },
}

const KUSTOMIZATION = `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [deployment.yaml, service.yaml, disruption-budget.yaml, service-account.yaml, network-policy.yaml]
labels:
  - includeSelectors: true
    pairs: { app.kubernetes.io/name: {{label}} }
# Where the image is pulled from, and which one: a new tag for each build, because nodes keep an image that they have.
images:
  - { name: app, newName: registry.example.com/{{label}}, newTag: v1 }
`

const README = `Build and push the image, name it in \`kubernetes/kustomization.yaml\`, and apply:

\`\`\`sh
docker build --tag registry.example.com/{{label}}:v1 .
docker push registry.example.com/{{label}}:v1
kubectl apply -k kubernetes
kubectl rollout status deployment/{{label}}
kubectl port-forward service/{{label}} 3000
\`\`\`

Two pods run, and a rolling update or the drain of a node loses no request. The comments in \`kubernetes/\` say why each field is as it is. The
service opens no connections of its own until \`network-policy.yaml\` allows them.`

/** The first document: the headless Service after it is for an NGINX in front of many apps. */
function readBase(read: (path: string) => string, file: string): Document {
  const [document] = parseAllDocuments(read(`${BASE}/${file}`))
  if (document === undefined || !('contents' in document)) throw new Error(`${BASE}/${file} is empty.`)
  return document
}

/** Every object of the project has its name. `app` stays the name of the container and of its image. */
function write(document: Document): string {
  const names = [
    ['metadata', 'name'],
    ['spec', 'template', 'spec', 'serviceAccountName'],
  ]
  for (const path of names) if (document.hasIn(path)) document.setIn(path, LABEL)
  for (const path of ['selector', 'podSelector'].map((key) => ['spec', key]))
    if (document.hasIn(path)) document.setIn([...path, 'matchLabels'], { 'app.kubernetes.io/name': LABEL })
  // The library writes `[ x ]`, if it writes `{ x: y }`.
  const text = document.toString({ lineWidth: 0 }).replaceAll('[ ', '[').replaceAll(' ]', ']')
  return text.replaceAll(LABEL, '{{label}}')
}

/** An NGINX is another user, writes files, has no environment, and waits with a sleep. */
function adapt({ runtime }: App, document: Document): Document {
  if (runtime !== 'nginx') return document
  const pod = ['spec', 'template', 'spec']
  const container = [...pod, 'containers', 0]
  commentOn(
    document,
    [...pod, 'terminationGracePeriodSeconds'],
    ' The preStop sleep, 9 s for the last responses, and a margin.',
  )
  document.setIn([...pod, 'securityContext', 'runAsUser'], 101)
  document.setIn([...pod, 'securityContext', 'runAsGroup'], 101)
  document.deleteIn([...container, 'env'])
  document.setIn([...container, 'lifecycle'], document.createNode({ preStop: { sleep: { seconds: 5 } } }))
  commentOn(document, [...container, 'lifecycle'], PRE_STOP)
  document.setIn(
    [...container, 'volumeMounts'],
    document.createNode([{ name: 'run', mountPath: '/app/run' }]),
  )
  document.setIn([...pod, 'volumes'], document.createNode([{ name: 'run', emptyDir: { sizeLimit: '64Mi' } }]))
  commentOn(document, [...pod, 'volumes'], ' Process id and temporary files.')
  return document
}

const PRE_STOP =
  ' The removal from the endpoints starts at the same time. Every node needs a moment to follow, and until then new connections arrive.'

/** Sets the comment before a key. */
function commentOn(document: Document, path: readonly (string | number)[], comment: string): void {
  const parent = document.getIn(path.slice(0, -1))
  const pair = isMap(parent)
    ? parent.items.find(({ key }) => (isScalar(key) ? key.value : key) === path.at(-1))
    : undefined
  if (pair === undefined) throw new Error(`The manifests have no ${path.join('.')} any more.`)
  if (!isScalar(pair.key)) pair.key = document.createNode(pair.key)
  if (isScalar(pair.key)) pair.key.commentBefore = comment
}
