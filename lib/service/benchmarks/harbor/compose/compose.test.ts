import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readCompose } from './compose.ts'

let task: string
let folder: string
beforeAll(() => {
  task = realpathSync(mkdtempSync(join(tmpdir(), 'devdeck-compose-')))
  folder = join(task, 'environment')
  mkdirSync(join(folder, 'db'), { recursive: true })
  writeFileSync(join(folder, 'db.env'), '# comment\nPASSWORD="a b"\nexport USER_NAME=app # inline\n')
  writeFileSync(join(folder, 'init.sql'), 'select 1')
})
afterAll(() => rmSync(task, { recursive: true, force: true }))

const read = (text: string, variables = {}) => readCompose(text, { folder, taskFolder: task, variables })

describe('readCompose', () => {
  it('reads the services that run with main', () => {
    const { compose, problems } = read(
      `
x-common: &common
  environment: { MODE: test, COUNT: 3 }
services:
  main:
    depends_on:
      db: { condition: service_healthy }
  db:
    <<: *common
    build: { context: ./db, args: [VERSION=2], target: final }
    env_file: db.env
    command: sh -c "exec server --name 'a b'"
    entrypoint: ["/entry.sh"]
    user: "1000:1000"
    working_dir: /srv
    ports: ["5432:5432"]
    expose: [5432]
    volumes: ["data:/var/lib/db", "./init.sql:/init/init.sql:ro", "/scratch", { type: tmpfs, target: /fast }]
    healthcheck: { test: "nc -z localhost 5432", interval: 1m1s, timeout: 500ms, retries: 4 }
    networks: { back: { aliases: [database] } }
    deploy: { resources: { limits: { cpus: "0.5", memory: 256M } } }
  tool:
    image: busybox
    profiles: [debug]
volumes: { data: {} }
networks: { back: { internal: true } }
`,
    )
    expect(problems).toBeUndefined()
    expect(compose?.main.dependsOn).toEqual([{ service: 'db', condition: 'healthy' }])
    expect(compose?.internalNetworks).toEqual(['back'])
    expect(compose?.services).toEqual([
      {
        name: 'db',
        image: null,
        build: {
          context: join(folder, 'db'),
          dockerfile: 'Dockerfile',
          inline: null,
          args: { VERSION: '2' },
          target: 'final',
        },
        dependsOn: [],
        env: { PASSWORD: 'a b', USER_NAME: 'app', MODE: 'test', COUNT: '3' },
        volumes: [
          { volume: 'data', target: '/var/lib/db', readOnly: false },
          { volume: null, target: '/scratch', readOnly: false },
        ],
        files: [{ source: join(folder, 'init.sql'), target: '/init/init.sql' }],
        tmpfs: ['/fast'],
        networks: [{ name: 'back', aliases: ['database'] }],
        extraHosts: [],
        command: ['sh', '-c', "exec server --name 'a b'"],
        entrypoint: ['/entry.sh'],
        workdir: '/srv',
        user: '1000:1000',
        healthcheck: { test: ['CMD-SHELL', 'nc -z localhost 5432'], intervalMs: 61_000, timeoutMs: 500, retries: 4 },
        memoryBytes: 256 * 1024 ** 2,
        cpuCores: 0.5,
      },
    ])
  })

  it('replaces variables as Compose does', () => {
    const values = `[ "\${A}", "$B", "\${C:-x\${A}}", "\${A:+set}", "\${EMPTY-unset}", "$$HOME", "\${EMPTY:-y}" ]`
    const { compose } = read(`services: { db: { image: busybox, command: ${values} } }`, { A: '1', EMPTY: '' })
    expect(compose?.services[0]?.command).toEqual(['1', '', 'x1', 'set', '', '$HOME', 'y'])
    expect(read(`services: { db: { image: "\${NAME:?choose one}" } }`).problems).toEqual([
      'The variable NAME is required: choose one',
      'services.db has neither an image nor a build',
    ])
  })

  const refused: Record<string, string> = {
    'privileged: true': 'services.db.privileged is refused: it gives the container full access to its host',
    'network_mode: host': 'services.db.network_mode host is refused: it shares the network of the host',
    'pid: host': 'services.db.pid is refused: it shares processes',
    'cap_add: [SYS_ADMIN]': 'services.db.cap_add is refused: it adds capabilities',
    'volumes: ["/var/run/docker.sock:/var/run/docker.sock"]':
      'services.db.volumes: /var/run/docker.sock is refused: it controls the container engine',
    'volumes: ["/etc:/host"]': 'services.db.volumes: /etc is refused: it is a path of the host',
    'volumes: ["../../:/all"]': 'services.db.volumes: ../../ is outside the task',
    'volumes: ["cache:/cache"]': 'services.db.volumes: there is no volume cache',
    'build: { context: "../.." }': 'services.db.build.context: ../.. is outside the task',
    'security_opt: ["seccomp:unconfined"]': 'services.db.security_opt is refused: it changes the security profile',
    'extra_hosts: ["host:host-gateway"]': 'services.db.extra_hosts: host-gateway is refused',
    'depends_on: [cache]': 'services.db.depends_on: there is no service cache',
    'depends_on: [db]': 'depends_on: services depend on each other',
    'develop: {}': 'services.db.develop is not supported',
    'healthcheck: { test: "true", interval: 5 }': 'services.db.healthcheck.interval: 5 is not a valid value',
  }
  for (const [setting, problem] of Object.entries(refused))
    it(`refuses ${setting}`, () => {
      expect(read(`services:\n  db:\n    image: busybox\n    ${setting}\n`).problems).toEqual([problem])
    })

  it('allows what changes nothing', () => {
    const harmless =
      'privileged: false\n    security_opt: [no-new-privileges:true]\n    container_name: db\n    tty: true'
    expect(read(`version: "3"\nservices:\n  db:\n    image: busybox\n    ${harmless}\n`).problems).toBeUndefined()
  })

  it('reports invalid YAML', () => {
    expect(read('services: [').problems).toHaveLength(1)
  })
})
