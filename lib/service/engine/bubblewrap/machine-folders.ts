/** Folders of this machine that devboxes see. */
export const programFolders = ['/usr', '/opt', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32']

/** Those below a system of a devbox's own; everything else in it comes from its base. */
export const machineFolders = [...programFolders, '/var/lib/dpkg']

export const isBelow = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`)
