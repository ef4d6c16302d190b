import { StartError } from '#lib/service/kit/errors.ts'

/**
 * The one account of a service that runs devboxes as plain processes: nothing keeps them from the files, the network and
 * the keys of one another. Throws a StartError when there are keys of more.
 */
export const onlyAccount = (accounts: Iterable<string>): string => {
  const [first = 'local', ...others] = new Set(accounts)
  if (others.length > 0)
    throw new StartError(
      `Devboxes are plain processes here, which nothing keeps apart, and there are keys of ${others.length + 1} accounts (${[first, ...others].join(', ')}): install bubblewrap and leave out --isolation none, or keep the keys of one account (DEVDECK_API_KEYS, keys list, keys revoke)`,
    )
  return first
}
