"""What every part of a scenario file is made of."""

from __future__ import annotations

from typing import ClassVar, Self

from pydantic import BaseModel, ConfigDict, model_validator

from pflab.scenario_values import wrong


class Part(BaseModel):
    """A part of a scenario. `exactly_one` and `at_least_one` name keys of which so many must be given."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    exactly_one: ClassVar[tuple[str, ...]] = ()
    at_least_one: ClassVar[tuple[str, ...]] = ()

    @model_validator(mode="after")
    def _given(self) -> Self:
        for keys, exact in ((self.exactly_one, True), (self.at_least_one, False)):
            names = [key_of(type(self), key) for key in keys]
            given = [name for key, name in zip(keys, names, strict=True) if key in self.model_fields_set]
            if keys and not given:
                raise wrong(f"nothing is asked; give one of {', '.join(names)}")
            if exact and len(given) > 1:
                raise wrong(f"{' and '.join(given)} do not go together; give one of {', '.join(names)}")
        return self


def key_of(model: type[BaseModel], field: str) -> str:
    return model.model_fields[field].alias or field
