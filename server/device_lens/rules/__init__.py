"""The rules: each reads facts and turns one into a finding with words and fixes."""
