import { StartError } from '#lib/service/kit/errors.ts'
import { type EngineAddress, type EngineVariables, parseEngineAddress } from '../container/engine-address.ts'

interface Options {
  manager: EngineAddress
  /** With `{address}` or `{hostname}`. */
  template: string | undefined
  variables: EngineVariables
}

/**
 * The address of a node's API. Without a template it is the manager's with the node's address, or, if that is a socket,
 * only known for the manager. Throws a StartError if the template isn't valid.
 */
export const createNodeAddresses = ({ manager, template, variables }: Options) => {
  const pattern = template ?? templateOf(manager.url)
  const parse = ({ address, hostname }: { address: string; hostname: string }) => {
    const host = address.includes(':') ? `[${address}]` : address
    return parseEngineAddress(
      pattern?.replaceAll('{address}', host).replaceAll('{hostname}', hostname) ?? '',
      variables,
    )
  }
  if (template !== undefined && !/\{(address|hostname)\}/.test(template))
    throw new StartError(`--engine-node-url ${template} must contain {address} or {hostname}`)
  if (pattern !== undefined) parse({ address: '192.0.2.1', hostname: 'node' })
  return (node: { address: string; hostname: string; isManager: boolean }): EngineAddress | undefined => {
    if (pattern !== undefined) return parse(node)
    return node.isManager ? manager : undefined
  }
}

const templateOf = (url: string): string | undefined => {
  if (url.startsWith('unix:')) return undefined
  const { protocol, port, username } = new URL(url)
  return `${protocol}//${username && `${username}@`}{address}${port && `:${port}`}`
}
