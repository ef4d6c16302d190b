import { AddressHelp } from '#components/layout/address-help.tsx'
import { NoSuchPage } from '#components/layout/no-such-page.tsx'

/** Of this segment alone: that of the console comes with every page. */
export default function NotFound() {
  return (
    <NoSuchPage>
      <AddressHelp />
    </NoSuchPage>
  )
}
