/** How pupils join: the address, and its QR code. */

import { ROOM } from "../../api.js";
import { html, useEffect, useState } from "../../vendor/preact.js";

/** @param {{room: import("../../class_room.js").ClassRoom}} props */
export function Invitation({ room }) {
  const [invitation, setInvitation] = useState(/** @type {{address: string, qr: string | null} | null} */ (null));
  useEffect(() => {
    void room.act(ROOM.invitation, {}).then((found) => setInvitation(found ?? null));
  }, []);
  if (!invitation) return null;
  return html`<section class="invitation" aria-label="How to join">
    ${invitation.qr && html`<img alt="QR code of the address" src=${`data:image/svg+xml,${encodeURIComponent(invitation.qr)}`} />`}
    <p>Open <b class="address">${invitation.address}</b></p>
  </section>`;
}
