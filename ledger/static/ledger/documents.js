"use strict";

SwaggerUIBundle({
  url: document.getElementById("document").dataset.address,
  dom_id: "#document",
  presets: [SwaggerUIBundle.presets.apis],
  layout: "BaseLayout",
  validatorUrl: null,
});
