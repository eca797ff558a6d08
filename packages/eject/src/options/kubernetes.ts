import type { Option } from './option.ts'

const MANIFESTS = 'deploy/kubernetes'

const FILES = [
  'deployment.yaml',
  'disruption-budget.yaml',
  'kustomization.yaml',
  'network-policy.yaml',
  'service-account.yaml',
  'service.yaml',
]

/** The manifests of this repository, in which everything is called `web`, under the name of the project. */
export const kubernetes: Option = {
  name: 'kubernetes',
  title: 'Manifests for Kubernetes',
  describe({ runtime }, read) {
    const files = Object.fromEntries(
      FILES.map((file) => [
        `kubernetes/${file}`,
        read(`${MANIFESTS}/app/${file}`).replaceAll(/\bweb\b/g, '{{label}}'),
      ]),
    )
    if (runtime === 'nginx') {
      files['kubernetes/kustomization.yaml'] += 'components: [njs]\n'
      // The NGINX of a project writes there.
      files['kubernetes/njs/kustomization.yaml'] = read(
        `${MANIFESTS}/components/njs/kustomization.yaml`,
      ).replace('/tmp', '/app/run')
    }
    return { files, readme: README }
  },
}

const README = `Build and push the image, name it in \`kubernetes/deployment.yaml\`, and apply:

\`\`\`sh
docker build --tag registry.example.com/{{label}}:v1 .
docker push registry.example.com/{{label}}:v1
kubectl apply -k kubernetes
kubectl rollout status deployment/{{label}}
kubectl port-forward service/{{label}} 3000
\`\`\`

Two pods run, and a rolling update or the drain of a node loses no request. The comments in \`kubernetes/\` say why each field is as it is. The
service opens no connections of its own until \`network-policy.yaml\` allows them.`
