import type { AgentSource } from '#lib/contract/agents.ts'

export const sourceWords: Record<AgentSource['type'], string> = {
  npm: 'npm package',
  pip: 'Python package',
  git: 'Git repository',
  object: 'Object',
}

/** What the agent is installed from, such as `npm @acme/agent@1.2`. */
export const sourceText = (source: AgentSource | null | undefined): string => {
  if (!source) return 'Not reported'
  const { npm, pip, git, object } = source
  if (npm) return `npm ${npm.package_name}${npm.npm_version ? `@${npm.npm_version}` : ''}`
  if (pip) return `pip ${pip.package_name}${pip.pip_version ? `==${pip.pip_version}` : ''}`
  if (git) return `git ${git.repository}${git.ref ? `#${git.ref}` : ''}`
  return object ? `object ${object.object_id}` : source.type
}

export const setupOf = (source: AgentSource | null | undefined): readonly string[] =>
  source?.[source.type]?.agent_setup ?? []
