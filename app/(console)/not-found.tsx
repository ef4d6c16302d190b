import { AddressHelp } from '#components/layout/address-help.tsx'
import { NoSuchPage } from '#components/layout/no-such-page.tsx'

export default function NotFound() {
  return (
    <NoSuchPage>
      <AddressHelp />
    </NoSuchPage>
  )
}
