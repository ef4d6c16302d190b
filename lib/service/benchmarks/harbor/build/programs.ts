import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Machine } from '#lib/service/engine/bubblewrap/system.ts'

const installers = [
  ...['apt', 'apt-get', 'apt-key', 'apt-mark', 'aptitude', 'add-apt-repository', 'dpkg', 'apk', 'pacman', 'brew'],
  ...['yum', 'dnf', 'microdnf', 'zypper', 'rpm', 'locale-gen', 'update-ca-certificates', 'corepack'],
  ...['pip', 'pip3', 'pipx', 'uv', 'poetry', 'conda', 'mamba', 'micromamba', 'npm', 'pnpm', 'yarn', 'bun'],
  ...['gem', 'bundle', 'cargo', 'go', 'sudo', 'curl', 'wget', 'git'],
]
/** Programs that a devbox with a single user cannot run. */
const userPrograms = ['useradd', 'adduser', 'groupadd', 'addgroup', 'usermod', 'chown', 'chgrp', 'chpasswd', 'passwd']

const read = (file: string) => readFileSync(join(import.meta.dirname, file), 'utf8')

export const putBuildPrograms = (folder: string, { hasSystem, hasUsers }: Machine) => ({
  script: `mkdir -p -- "$FOLDER/python/pip" && cd -- "$FOLDER" && printf %s "$PIP" >python/pip/__init__.py &&
: >skipped && printf %s "$PROGRAM" >apt && chmod +x apt && printf %s "$APT" >apt.conf && chmod 711 .. && chmod 666 skipped && for name in $NAMES; do [ -e "$name" ] || ln -s apt "$name" || exit; done`,
  env: {
    FOLDER: folder,
    PROGRAM: read('program.sh'),
    PIP: read('pip.py'),
    NAMES: [...installers, ...(hasUsers ? [] : userPrograms), ...(hasSystem ? [] : ['mkdir'])].join(' '),
    APT: aptSettings,
  },
})

// Fails at once without a network instead of after minutes of retries.
const aptSettings =
  'Acquire::Retries "0"; Acquire::http::Timeout "10"; Acquire::https::Timeout "10"; APT::Sandbox::User "root";'
const failFast = {
  PIP_RETRIES: '0',
  PIP_DEFAULT_TIMEOUT: '15',
  PIP_DISABLE_PIP_VERSION_CHECK: '1',
  PIP_ROOT_USER_ACTION: 'ignore',
  npm_config_fetch_retries: '0',
  npm_config_update_notifier: 'false',
  DEBIAN_FRONTEND: 'noninteractive',
}

export const withBuildPrograms = (
  folder: string,
  line: number,
  env: Record<string, string>,
  { hasSystem }: Machine,
) => ({
  ...(hasSystem && { ...failFast, APT_CONFIG: `${folder}/apt.conf`, DEVDECK_BUILD_TRIES: '1' }),
  ...env,
  PATH: `${folder}:${env.PATH}`,
  DEVDECK_BUILD_PROGRAMS: folder,
  PYTHONPATH: [`${folder}/python`, ...(env.PYTHONPATH ? [env.PYTHONPATH] : [])].join(':'),
  DEVDECK_DOCKERFILE_LINE: String(line),
})

export const skippedFile = (folder: string) => `${folder}/skipped`
