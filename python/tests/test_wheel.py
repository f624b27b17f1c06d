"""What the wheel carries beside the package."""

import json
from importlib.metadata import files


def test_the_wheel_says_what_it_is_made_of() -> None:
    found = [path for path in files("triview") or [] if path.parent.name == "sboms"]
    documents = [json.loads(path.read_text()) for path in found]
    assert all(document["bomFormat"] == "CycloneDX" for document in documents)
    components = {part["name"] for document in documents for part in document["components"]}
    assert {"faer", "parquet", "safetensors"} <= components
